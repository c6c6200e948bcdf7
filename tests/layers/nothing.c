/* A program that does nothing: that it links is the test. */
#include <stdio.h>

int main(void)
{
        puts("1..1\nok 1 - links");
        return 0;
}
