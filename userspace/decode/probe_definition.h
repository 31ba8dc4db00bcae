// SPDX-License-Identifier: Apache-2.0
//
// The definitions that a decoder takes are the ones that a capture stores.
#pragma once

#include "capture/probe_definition.h"
