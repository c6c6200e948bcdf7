#include "field-selector.h"
