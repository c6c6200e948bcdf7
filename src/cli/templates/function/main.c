#include "function.h"

int main(int argc, char **argv)
{
        return weft_main(argc, argv, &function);
}
