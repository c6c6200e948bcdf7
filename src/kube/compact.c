#include "compact.h"
