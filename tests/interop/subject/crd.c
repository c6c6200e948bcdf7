#include "subject.h"
