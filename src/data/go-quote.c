#include "gotext.h"
