#include "proto.h"
