// SPDX-License-Identifier: Apache-2.0
/// What is told of a measurement: its progress, the machine that its figures belong to, and curves
/// as pictures. Confined to the caller's thread.
@NullMarked
package io.weft.perf.report;

import org.jspecify.annotations.NullMarked;
