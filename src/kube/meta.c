#include "meta.h"
