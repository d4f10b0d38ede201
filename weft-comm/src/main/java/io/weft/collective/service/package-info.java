// SPDX-License-Identifier: Apache-2.0
/// Collectives as a service of the mesh: operations from submission to completion, on the progress
/// thread.
@NullMarked
package io.weft.collective.service;

import org.jspecify.annotations.NullMarked;
