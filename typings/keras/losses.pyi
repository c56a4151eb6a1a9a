from keras import KerasTensor, TensorLike

def sparse_categorical_crossentropy(
    y_true: TensorLike, y_pred: TensorLike, from_logits: bool = False, ignore_class: int | None = None, axis: int = -1
) -> KerasTensor: ...
