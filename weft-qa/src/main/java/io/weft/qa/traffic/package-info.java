// SPDX-License-Identifier: Apache-2.0
/// What a wide-and-deep model's steps ask of parameter servers, simulated: hundreds of small
/// tensors from each of tens of servers, for up to a thousand workers.
@NullMarked
package io.weft.qa.traffic;

import org.jspecify.annotations.NullMarked;
