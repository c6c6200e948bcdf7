#include "label-selector.h"
