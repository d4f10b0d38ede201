// SPDX-License-Identifier: Apache-2.0
/// Where the time of a job went, and what monitoring asks of a rank while it runs.
@NullMarked
package io.weft.dataparallel.metrics;

import org.jspecify.annotations.NullMarked;
