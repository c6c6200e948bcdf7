#include "timetext.h"
