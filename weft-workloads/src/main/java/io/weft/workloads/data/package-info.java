// SPDX-License-Identifier: Apache-2.0
/// Readers of published data formats, and examples in memory. Readers check each number in a file
/// before they allocate memory for it. Any thread may use them.
@NullMarked
package io.weft.workloads.data;

import org.jspecify.annotations.NullMarked;
