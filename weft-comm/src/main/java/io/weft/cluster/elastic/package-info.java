// SPDX-License-Identifier: Apache-2.0
/// The agreement of the survivors of a failure on the members of the next epoch. Everything runs on
/// the progress thread, except the call that starts it.
@NullMarked
package io.weft.cluster.elastic;

import org.jspecify.annotations.NullMarked;
