// SPDX-License-Identifier: Apache-2.0
/// The parts of an operation, and the services of the mesh that its exchanges use.
@NullMarked
package io.weft.collective.exchange;

import org.jspecify.annotations.NullMarked;
