// SPDX-License-Identifier: Apache-2.0
/// Who goes on after a failure: the survivors agree on the members of the next epoch. Everything
/// runs on the progress thread but the call that begins it.
@NullMarked
package io.weft.cluster.elastic;

import org.jspecify.annotations.NullMarked;
