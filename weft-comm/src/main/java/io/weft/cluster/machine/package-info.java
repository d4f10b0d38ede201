// SPDX-License-Identifier: Apache-2.0
/// What a rank knows of the machine that it runs on.
@NullMarked
package io.weft.cluster.machine;

import org.jspecify.annotations.NullMarked;
