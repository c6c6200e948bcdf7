#include "kind.h"
