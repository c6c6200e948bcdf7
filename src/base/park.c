#include "park.h"
