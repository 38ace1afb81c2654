"""The same training in PyTorch: batches as sums of minibatches, the rate in proportion to them.

In float64 (unless it is told otherwise), so that nearly all of a difference is Rubato's. A ReLU or
a max-pool may still decide otherwise than in float32 where rounding is what decides, and such a
jump is seldom but not small: PyTorch's own float32 then leaves its float64 just as far.
"""

import dataclasses

import numpy
import torch
import torch.nn.functional as F

from torch_models import make_model


@dataclasses.dataclass
class Evaluation:
    loss: float  # mean over the test set
    correct: int
    undecided: int  # answers that rounding may turn: the best two are equally good


class TorchTwin:
    def __init__(self, spec, images, tensors, dtype=torch.float64, threads=1):
        torch.manual_seed(0)
        torch.set_num_threads(threads)
        self.images = images
        self.model = make_model(spec, images.train_images[0].size,
                                images.train_images.shape[1])
        self.norms = {name: layer for name, layer in self.model.named_modules()
                      if isinstance(layer, torch.nn.BatchNorm2d)}
        self.dtype = dtype
        self.model.to(dtype)
        self.load(tensors)

    def load(self, tensors):
        """Every tensor must be there: names, shapes and all."""
        state = {name: torch.from_numpy(values) for name, values in tensors.items()}
        for name in self.norms:
            state[f"{name}.num_batches_tracked"] = torch.tensor(0)
        self.model.load_state_dict(state, strict=True)

    def train(self, updates, rate, reference_batch, momentum, weight_decay):
        """Yields the mean loss of each update."""
        optimizer = torch.optim.SGD(self.model.parameters(), lr=rate, momentum=momentum,
                                    weight_decay=weight_decay)
        for update in updates:
            optimizer.param_groups[0]["lr"] = rate * update.batch_size / reference_batch
            yield self.update(optimizer, update)

    def update(self, optimizer, update):
        """One update of the parameters that the optimizer has; its mean loss."""
        self.model.train()
        optimizer.zero_grad()
        statistics = RunningStatistics(self.norms)
        loss = sum(self.backward(minibatch, statistics) for minibatch in update.minibatches)
        for parameter in self.model.parameters():
            parameter.grad /= update.batch_size
        optimizer.step()
        statistics.finish(len(update.minibatches))
        return loss / update.batch_size

    def backward(self, minibatch, statistics):
        inputs = torch.from_numpy(self.images.train_images[minibatch]).to(self.dtype)
        labels = torch.from_numpy(self.images.train_labels[minibatch])
        loss = F.nll_loss(self.model(inputs), labels, reduction="sum")
        loss.backward()
        statistics.add_minibatch()
        return loss.item()

    def tensors(self):
        return {name: tensor.numpy() for name, tensor in self.model.state_dict().items()
                if not name.endswith("num_batches_tracked")}

    @torch.no_grad()
    def evaluate(self):
        self.model.eval().float()  # a forward pass alone does not add up rounding
        inputs = torch.from_numpy(self.images.test_images)
        outputs = torch.cat([self.model(part) for part in torch.split(inputs, 256)])
        labels = torch.from_numpy(self.images.test_labels)
        best = torch.topk(outputs, 2, 1).values
        return Evaluation(loss=F.nll_loss(outputs.double(), labels).item(),
                          correct=int((outputs.argmax(1) == labels).sum()),
                          undecided=int((best[:, 0] - best[:, 1] < 1e-4).sum()))


class RunningStatistics:
    """Moves BatchNorm's running statistics once an update, as Rubato defines it.

    With s the mean over the update's m minibatches of a statistic, z <- (1-a)^m z + (1-(1-a)^m) s:
    as much weight as m moves have, without an order among the minibatches. PyTorch moves them at
    every minibatch; with a momentum of 1 it leaves the minibatch's own statistics there.
    """

    MOMENTUM = 0.1

    def __init__(self, norms):
        self.buffers = [buffer for norm in norms.values()
                        for buffer in (norm.running_mean, norm.running_var)]
        self.before = [buffer.clone() for buffer in self.buffers]
        self.sums = [torch.zeros_like(buffer) for buffer in self.buffers]
        for norm in norms.values():
            norm.momentum = 1.0

    def add_minibatch(self):
        for total, buffer in zip(self.sums, self.buffers):
            total += buffer

    def finish(self, minibatches):
        kept = (1 - self.MOMENTUM) ** minibatches
        for buffer, before, total in zip(self.buffers, self.before, self.sums):
            buffer.copy_(kept * before + (1 - kept) * total / minibatches)


def distance(ours, theirs):
    """|ours - theirs| / |theirs|, of one tensor or of several taken together."""
    ours, theirs = (numpy.concatenate([numpy.ravel(part).astype(numpy.float64) for part in parts])
                    for parts in (ours, theirs))
    return numpy.linalg.norm(ours - theirs) / numpy.linalg.norm(theirs)
