// SPDX-License-Identifier: Apache-2.0
/// Whole jobs inside one process, for tests: each rank is a thread, on a real transport.
@NullMarked
package io.weft.testkit.job;

import org.jspecify.annotations.NullMarked;
