#include "field-error.h"
