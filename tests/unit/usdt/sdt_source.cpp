// SPDX-License-Identifier: Apache-2.0
#include "sdt_source.h"
