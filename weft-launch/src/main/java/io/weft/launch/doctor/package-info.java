// SPDX-License-Identifier: Apache-2.0
/// Checks of this machine, each with reason and remedy. The calling thread.
@NullMarked
package io.weft.launch.doctor;

import org.jspecify.annotations.NullMarked;
