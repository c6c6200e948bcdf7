#include "owner.h"
