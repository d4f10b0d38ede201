// SPDX-License-Identifier: Apache-2.0
/// Signs of life: who owes one, who has shown one, and what can be known of a rank that is silent.
/// Pure but for the look at another process of this host.
@NullMarked
package io.weft.cluster.watch;

import org.jspecify.annotations.NullMarked;
