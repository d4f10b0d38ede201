// SPDX-License-Identifier: Apache-2.0
/// Collectives as a service of the mesh: the operations on the progress thread, from submission to
/// completion.
@NullMarked
package io.weft.collective.service;

import org.jspecify.annotations.NullMarked;
