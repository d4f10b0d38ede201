// SPDX-License-Identifier: Apache-2.0
/// The entry point of a rank: join the job, get communicators, leave. Any thread.
@NullMarked
package io.weft;

import org.jspecify.annotations.NullMarked;
