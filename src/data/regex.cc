extern "C" {
#include "regex.h"
}
