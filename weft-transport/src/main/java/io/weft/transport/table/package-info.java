// SPDX-License-Identifier: Apache-2.0
/// Tables of a polling thread: a map by numbers, and arrays of endpoints.
@NullMarked
package io.weft.transport.table;

import org.jspecify.annotations.NullMarked;
