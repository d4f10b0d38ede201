// SPDX-License-Identifier: Apache-2.0
/// Readers of published data formats, and examples in memory. Whatever a file says is checked
/// before memory is taken for it. Any thread.
@NullMarked
package io.weft.workloads.data;

import org.jspecify.annotations.NullMarked;
