// SPDX-License-Identifier: Apache-2.0
/// The plan of tensor fusion, and the fusion buffers.
@NullMarked
package io.weft.dataparallel.fusion;

import org.jspecify.annotations.NullMarked;
