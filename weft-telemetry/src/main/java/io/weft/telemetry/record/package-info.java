// SPDX-License-Identifier: Apache-2.0
/// What flight recorder and timeline share: numbers of operations, and the thread that writes.
@NullMarked
package io.weft.telemetry.record;

import org.jspecify.annotations.NullMarked;
