#include "uuid.h"
