#include "number.h"
