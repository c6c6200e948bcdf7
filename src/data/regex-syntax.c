#include "regex.h"
