// SPDX-License-Identifier: Apache-2.0
/// What an operation consists of, and what its exchanges use of the mesh.
@NullMarked
package io.weft.collective.exchange;

import org.jspecify.annotations.NullMarked;
