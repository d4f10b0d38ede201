// SPDX-License-Identifier: Apache-2.0
/// Exchanges of several collectives, one after the other: what is computed between them runs on a
/// thread of its own, since neither the caller nor the progress thread may be kept.
@NullMarked
package io.weft.dataparallel.worker;

import org.jspecify.annotations.NullMarked;
