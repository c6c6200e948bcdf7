#include <stdio.h>

int main(void)
{
        puts("weft " WEFT_VERSION);
        return 0;
}
