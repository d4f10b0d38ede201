// SPDX-License-Identifier: Apache-2.0
/// The goodput of a job, and the metrics of a rank for monitoring.
@NullMarked
package io.weft.telemetry.metrics;

import org.jspecify.annotations.NullMarked;
