#include "function.h"

int main(int argc, char **argv)
{
        return weft_main(argc, argv,
                         &(struct weft_function) {
                                 .name = "function-robots",
                                 .help = "Composes as many Robots as an XRobotGroup asks for.",
                                 .run = robots_run,
                         });
}
