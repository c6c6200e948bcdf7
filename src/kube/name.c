#include "name.h"
