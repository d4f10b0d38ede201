// SPDX-License-Identifier: Apache-2.0
/// What works on this machine and what does not, each with reason and remedy. The calling thread.
@NullMarked
package io.weft.launch.doctor;

import org.jspecify.annotations.NullMarked;
