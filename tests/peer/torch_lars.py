"""LARS in PyTorch, as the published study of large batches on CIFAR-10 trained with it."""

import torch


class StudyLars(torch.optim.Optimizer):
    """Every tensor's rate is lr * trust |w| / (|g| + m |w|), outside the momentum m; the plain rate
    where a norm is 0. The momentum in the denominator is the study's own."""

    def __init__(self, parameters, lr, momentum, weight_decay, trust):
        super().__init__(parameters, {"lr": lr, "momentum": momentum,
                                      "weight_decay": weight_decay, "trust": trust})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for weights in group["params"]:
                self.move(weights, group)

    def move(self, weights, group):
        norm, gradient_norm = weights.norm().item(), weights.grad.norm().item()
        share = 1.0
        if norm > 0 and gradient_norm > 0:
            share = group["trust"] * norm / (gradient_norm + group["momentum"] * norm)
        direction = weights.grad + group["weight_decay"] * weights
        state = self.state[weights]
        if "momentum" in state:
            direction += group["momentum"] * state["momentum"]
        state["momentum"] = direction
        weights -= group["lr"] * share * direction
