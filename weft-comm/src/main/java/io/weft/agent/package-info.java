// SPDX-License-Identifier: Apache-2.0
/// Duty cycles and the threads that run them. An agent runs on one thread at a time.
@NullMarked
package io.weft.agent;

import org.jspecify.annotations.NullMarked;
