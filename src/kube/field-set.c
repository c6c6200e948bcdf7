#include "field-set.h"
