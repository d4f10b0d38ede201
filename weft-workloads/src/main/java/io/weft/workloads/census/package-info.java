// SPDX-License-Identifier: Apache-2.0
/// The Adult census data set: its published CSV, the 123 binary features of LIBSVM's a9a, and a
/// synthetic replacement. Any thread may use them.
@NullMarked
package io.weft.workloads.census;

import org.jspecify.annotations.NullMarked;
