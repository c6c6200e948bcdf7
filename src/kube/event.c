#include "event.h"
